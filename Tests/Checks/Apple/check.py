"""Compares the privacy manifests with the functions that the products call, and the list
of conditional branches with the sources.

    python3 check.py FOLDER

FOLDER has the objects of the products, each in `MODULE.build`.

The names and the reasons are those of Apple's page "Describing use of required reason
API".
"""

import collections
import pathlib
import plistlib
import re
import subprocess
import sys

TIMESTAMP = "NSPrivacyAccessedAPICategoryFileTimestamp"
SPACE = "NSPrivacyAccessedAPICategoryDiskSpace"
BOOT = "NSPrivacyAccessedAPICategorySystemBootTime"
DEFAULTS = "NSPrivacyAccessedAPICategoryUserDefaults"
KEYBOARDS = "NSPrivacyAccessedAPICategoryActiveKeyboards"

FUNCTIONS = {
    "stat": TIMESTAMP, "fstat": TIMESTAMP, "lstat": TIMESTAMP, "fstatat": TIMESTAMP,
    "getattrlist": TIMESTAMP, "fgetattrlist": TIMESTAMP, "getattrlistat": TIMESTAMP,
    "getattrlistbulk": TIMESTAMP, "statfs": SPACE, "fstatfs": SPACE, "statvfs": SPACE,
    "fstatvfs": SPACE, "mach_absolute_time": BOOT,
}
# Parts of mangled names.
NAMES = {
    "creationDate": TIMESTAMP, "odificationDate": TIMESTAMP, "attributesOfItem": TIMESTAMP,
    "systemUptime": BOOT, "olumeAvailableCapacity": SPACE, "olumeTotalCapacity": SPACE,
    "systemFreeSize": SPACE, "systemSize": SPACE, "activeInputModes": KEYBOARDS,
    "UserDefaults": DEFAULTS,
}
REASONS = {
    TIMESTAMP: {"DDA9.1", "C617.1", "3B52.1", "0A2A.1"},
    SPACE: {"85F4.1", "E174.1", "7D9E.1", "B728.1"},
    BOOT: {"35F9.1", "8FFB.1", "3D61.1"},
    DEFAULTS: {"CA92.1", "1C8F.1", "C56D.1", "AC6B.1"},
    KEYBOARDS: {"3EC4.1", "54BD.1"},
}
MODULES = [
    "Rejoin", "RejoinFoundation", "RejoinSQL", "RejoinPolicies", "RejoinStore",
    "RejoinSync", "RejoinTesting", "RejoinComparison",
]
# Modules that are parts of another one on Apple's platforms.
STAND_INS = {"RejoinSync": ["CloudKitObjects"], "RejoinPolicies": ["CoreDataPolicy"]}


def called(folder, module):
    """The categories of the functions that a module calls."""
    found = {}
    for name in [module, *STAND_INS.get(module, [])]:
        objects = sorted(folder.glob(f"{name}.build/**/*.o"))
        if not objects:
            sys.exit(f"{folder}/{name}.build has no objects; build the package first")
        symbols = subprocess.run(
            ["nm", "-u", *objects], check=True, capture_output=True, text=True).stdout
        for symbol in re.findall(r"^ +U (\S+)$", symbols, re.M):
            if symbol in FUNCTIONS:
                found[symbol] = FUNCTIONS[symbol]
            for part, category in NAMES.items():
                if symbol.startswith("$s") and part in symbol:
                    found[part] = category
    return found


def declared(module):
    """The categories of a module's privacy manifest, or none."""
    path = pathlib.Path("Sources", module, "PrivacyInfo.xcprivacy")
    if not path.exists():
        return {}
    manifest = plistlib.loads(path.read_bytes())
    if manifest["NSPrivacyTracking"] or manifest["NSPrivacyTrackingDomains"]:
        sys.exit(f"{path} declares tracking")
    return {
        entry["NSPrivacyAccessedAPIType"]: set(entry["NSPrivacyAccessedAPITypeReasons"])
        for entry in manifest["NSPrivacyAccessedAPITypes"]
    }


def conditions():
    """How often each condition occurs in each module."""
    paths = [pathlib.Path("Package.swift")]
    for folder in ["Sources", "Tests/Programs"]:
        paths += pathlib.Path(folder).rglob("*.swift")
    found = collections.Counter()
    for path in paths:
        module = path.parts[{"Sources": 1, "Tests": 2}.get(path.parts[0], 0)]
        for match in re.findall(r"^ *#(?:else)?if (.*)$", path.read_text(), re.M):
            found[match.strip(), module] += 1
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    failures = []
    for module in MODULES:
        calls, manifest = called(folder, module), declared(module)
        print(f"{module}: {', '.join(sorted(calls)) or 'none of the functions'}")
        for name, category in calls.items():
            if category not in manifest:
                failures.append(f"{module} calls {name}; declare {category} and a reason")
        for category, reasons in manifest.items():
            if category not in calls.values():
                failures.append(f"{module} declares {category} and calls nothing of it")
            if not reasons or reasons - REASONS[category]:
                failures.append(f"{module} gives {category} reasons that do not exist")
    table = pathlib.Path("Tests/StandIns/CONDITIONS.md").read_text()
    listed = {
        (name.replace("\\|", "|"), module): int(count)
        for name, module, count in re.findall(
            r"^\| `(.*?)` \| `(.*?)` \| (\d+) \|", table, re.M)
    }
    found = conditions()
    for condition, module in sorted(found.keys() | listed.keys()):
        counts = (found[condition, module], listed.get((condition, module), 0))
        if counts[0] != counts[1]:
            failures.append(
                f"{module} has {condition} {counts[0]} times, and CONDITIONS.md "
                f"{counts[1]} times; correct the row, and what it says")
    print(f"{len(listed)} rows of conditions")
    sys.exit("\n".join(failures) or None)


main()
