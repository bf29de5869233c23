# SPDX-License-Identifier: Apache-2.0
"""A package index on the loopback interface that misbehaves on request."""

import http.server
import json
import re
import threading
import time


class IndexServer:
    """Serves one wheel. The attributes may be changed while it runs."""

    def __init__(self, package, wheel, content, sha256):
        self.package, self.wheel, self.content, self.sha256 = package, wheel, content, sha256
        self.html = False          # PEP 503 instead of PEP 691
        self.ranges = True         # honour Range
        self.break_after = None    # close the connection after so many bytes, each time
        self.busy = 0              # answer 503 so many times first
        self.chunk_delay = 0       # seconds between pieces of 16 KiB
        self.status = None         # answer everything with this
        self.requests = []         # (path, Range header)
        handler = type("Handler", (_Handler,), {"index": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/index/simple"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def downloads(self):
        return [r for path, r in self.requests if path.endswith(".whl")]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    index = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.index.requests.append((self.path, self.headers.get("Range")))
        if self.index.status is not None:
            self.answer(self.index.status, "text/plain", b"no")
        elif self.path == f"/index/simple/{self.index.package}/":
            self.page()
        elif self.path == f"/files/{self.index.wheel}":
            self.file()
        else:
            self.answer(404, "text/plain", b"not here")

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def page(self):
        link = f"../../../files/{self.index.wheel}"
        if self.index.html:
            text = f'<html><a href="{link}#sha256={self.index.sha256}">x</a></html>'
            self.answer(200, "text/html", text.encode())
        else:
            files = [{"filename": "other-1.whl", "url": "x", "hashes": {}},
                     {"filename": self.index.wheel, "url": link,
                      "hashes": {"sha256": self.index.sha256}}]
            self.answer(200, "application/vnd.pypi.simple.v1+json",
                        json.dumps({"meta": {"api-version": "1.0"}, "files": files}).encode())

    def file(self):
        if self.index.busy > 0:
            self.index.busy -= 1
            self.answer(503, "text/plain", b"busy")
            return
        content, start = self.index.content, 0
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if wanted and self.index.ranges:
            start = int(wanted[1])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.send_pieces(content[start:])

    def send_pieces(self, rest):
        if self.index.break_after is not None:
            rest = rest[:self.index.break_after]
            self.close_connection = True
        try:
            for at in range(0, len(rest), 16384):
                self.wfile.write(rest[at:at + 16384])
                time.sleep(self.index.chunk_delay)
        except OSError:
            pass  # the other side was killed, on purpose
