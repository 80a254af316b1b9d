// An HTTPS server in a thread of its own, which responds while the thread of the test is blocked.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { key, cert, responses } = workerData as { key: string; cert: string; responses: Int32Array };

const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(204).end();
    // Node writes the response to the socket at once, so it can be read when the counter changes.
    setImmediate(() => {
      Atomics.add(responses, 0, 1);
      Atomics.notify(responses, 0);
    });
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
