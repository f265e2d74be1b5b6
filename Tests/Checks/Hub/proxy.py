#!/usr/bin/env python3
"""Forwards connections to a server, and resets some of them.

    proxy.py PORT SERVER_PORT SECONDS

Every few hundred milliseconds, on average, one connection is reset: before the server
receives a request, or after that and before the client receives the answer. The answers
to some COMMITs are lost after the server sent them, and each prints a line.
"""
import random
import re
import select
import socket
import struct
import sys
import threading
import time

PORT, SERVER, SECONDS = (int(a) for a in sys.argv[1:4])
# The share of the chunks that are lost with their connection.
RATE = 1 / 400
# The share of the COMMITs whose answer is lost.
COMMIT_RATE = 1 / 50
# A message that prepares a COMMIT under a name, which is empty for a single use.
COMMIT = re.compile(rb"P....(\w*)\0COMMIT\0", re.DOTALL)


def reset(*sockets):
    for each in sockets:
        # A linger time of zero discards unsent data and resets the connection.
        each.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        each.close()


def forward(client):
    try:
        server = socket.create_connection(("127.0.0.1", SERVER))
    except OSError:
        return reset(client)
    for each in client, server:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    other = {client: server, server: client}
    name = None
    try:
        while True:
            for source in select.select([client, server], [], [])[0]:
                data = source.recv(65536)
                if not data:
                    client.close()
                    return server.close()
                if random.random() < RATE:
                    if source is client and random.random() < 0.5:
                        # The server receives the request. The answer is lost.
                        server.sendall(data)
                        time.sleep(0.01)
                    return reset(client, server)
                other[source].sendall(data)
                if source is server:
                    continue
                if found := COMMIT.search(data):
                    name = found[1]
                # A message that runs a prepared statement has its name.
                commits = found or name and b"\0" + name + b"\0" in data
                if commits and random.random() < COMMIT_RATE:
                    server.recv(65536)
                    print("lost", flush=True)
                    return reset(client, server)
    except OSError:
        reset(client, server)


listener = socket.create_server(("127.0.0.1", PORT), backlog=64)
listener.settimeout(0.5)
end = time.time() + SECONDS
while time.time() < end:
    try:
        threading.Thread(
            target=forward, args=(listener.accept()[0],), daemon=True).start()
    except TimeoutError:
        pass
