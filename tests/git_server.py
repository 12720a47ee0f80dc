#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A git server on this machine: git_server.py ROOT CERTIFICATE KEY PORTFILE.

Serves the repositories under ROOT by HTTPS through `git http-backend`. Its
port is written to PORTFILE once it listens. Under /loop/ it redirects for
ever, under /plain/ to http://, under /slow/ it sends a byte a second.
"""
import http.server
import os
import ssl
import subprocess
import sys
import time

ROOT, CERT, KEY, PORTFILE = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def odd(self):
        place = self.path.split("/")[1]
        if place == "loop" or place == "plain":
            self.send_response(302)
            self.send_header("Location", self.path + "x" if place == "loop"
                             else "http://localhost/r/info/refs")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif place == "slow":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"0")
                self.wfile.flush()
                time.sleep(1)
        return place in ("loop", "plain", "slow")

    def do_GET(self):
        if self.odd():
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        env = dict(os.environ, GIT_PROJECT_ROOT=ROOT, GIT_HTTP_EXPORT_ALL="1",
                   PATH_INFO=path, QUERY_STRING=query,
                   REQUEST_METHOD=self.command, REMOTE_ADDR="127.0.0.1",
                   CONTENT_TYPE=self.headers.get("Content-Type") or "",
                   CONTENT_LENGTH=str(len(body)),
                   HTTP_CONTENT_ENCODING=self.headers.get(
                       "Content-Encoding") or "",
                   GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
        out = subprocess.run(["git", "http-backend"], input=body, env=env,
                             stdout=subprocess.PIPE).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1)
                  for line in head.decode("latin-1").split("\r\n")]
        status = dict(f for f in fields if len(f) == 2).get("Status", "200")
        self.send_response(int(status.split()[0]))
        for f in fields:
            if len(f) == 2 and f[0] not in ("Status", "Content-Length"):
                self.send_header(*f)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_POST = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERT, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(PORTFILE + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(PORTFILE + ".new", PORTFILE)
server.serve_forever()
