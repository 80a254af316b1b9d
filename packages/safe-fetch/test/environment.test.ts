import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { certificateFor, httpReceiver, httpsReceiver, rawReceiver } from "./receivers.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("./send-from-environment.ts", import.meta.url));

/** What a process with this environment gets from sending to each URL, in order. */
async function sendAll(urls: readonly string[], env: Record<string, string>): Promise<string[]> {
  const { stdout } = await run(execPath, [script, ...urls], { env });
  return stdout.trim().split("\n");
}

test("[SSRF-6] proxy variables and disabled certificate checks in the environment have no effect", async () => {
  await using proxy = await rawReceiver((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
  await using plain = await httpReceiver((_request, response) => response.writeHead(204).end());
  await using secure = await httpsReceiver(
    (_request, response) => response.end(),
    await certificateFor("a.example.net"),
  );
  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  const proxies = names.flatMap((name) => [[name, proxyUrl] as const, [name.toLowerCase(), proxyUrl] as const]);
  const urls = [`http://a.example.net:${plain.port}/`, `https://a.example.net:${secure.port}/`, "http://10.0.0.1/"];
  const outcomes = await sendAll(urls, {
    ...Object.fromEntries(proxies),
    NO_PROXY: "",
    NODE_USE_ENV_PROXY: "1",
    NODE_OPTIONS: "--use-env-proxy",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  });
  expect(outcomes).toEqual(["response 204", "connection-error certificate-untrusted", "refused address"]);
  expect([proxy.opened(), plain.opened(), secure.opened()]).toEqual([0, 1, 1]);
});

test("[SSRF-6] an authority that the environment adds is trusted for its own names only, and allows no address", async () => {
  const pem = await certificateFor("a.example.net");
  await using secure = await httpsReceiver((_request, response) => response.end(), pem);
  const folder = await mkdtemp(join(tmpdir(), "authority-"));
  await using _cleanup = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
  const file = join(folder, "extra.pem");
  await writeFile(file, pem.cert);
  const urls = [`https://a.example.net:${secure.port}/`, `https://b.example.net:${secure.port}/`, "https://10.0.0.1/"];
  expect(await sendAll(urls, {})).toEqual([
    "connection-error certificate-untrusted",
    "connection-error certificate-untrusted",
    "refused address",
  ]);
  expect(await sendAll(urls, { NODE_EXTRA_CA_CERTS: file })).toEqual([
    "response 200",
    "connection-error certificate",
    "refused address",
  ]);
});
