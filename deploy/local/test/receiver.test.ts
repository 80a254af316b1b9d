import { createHmac } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openPorts } from "@toolgate/local-servers/ports";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { describe, expect, test } from "vitest";
import { receiverCaFile, receiverSecretFile, startReceiver } from "../src/demo/receiver.ts";

const SECRET = "whsec_0123456789";
const NOW = new Date("2026-11-21T10:00:00Z");
const BODY = '{"type":"tool.completed"}';

async function start(dataDir: string, lines: string[] = []) {
  const ports = openPorts(join(dataDir, "ports.json"));
  return startReceiver({ dataDir, ports, log: (line) => lines.push(line), now: () => NOW });
}

function signature(secret: string, at: Date = NOW, body = BODY): string {
  const t = Math.floor(at.getTime() / 1000);
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
}

function post(url: string, ca: string | undefined, headers: Record<string, string>, body: string | Buffer = BODY) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, ...(ca && { ca }) }, async (response) => {
      await text(response);
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end(body);
  });
}

describe("the demo receiver", () => {
  test("prints what arrived, and whether its signature is right", async () => {
    const lines: string[] = [];
    const dataDir = await temporaryFolder();
    await using receiver = await start(dataDir, lines);
    const ca = await readFile(receiver.caFile, "utf8");
    await post(receiver.url, ca, {});
    await writeFile(receiverSecretFile(dataDir), SECRET);
    await post(receiver.url, ca, {});
    for (const header of [signature(SECRET), signature("whsec_other"), signature(SECRET, NOW, "{}")]) {
      const headers = {
        "x-service-event": "tool.completed",
        "x-service-delivery": "6f0e",
        "x-service-attempt": "2",
        "x-service-signature": header,
      };
      expect(await post(receiver.url, ca, headers)).toBe(204);
    }
    expect(lines).toEqual([
      "webhook -  delivery -  attempt -  signature not checked: no secret known here",
      "webhook -  delivery -  attempt -  signature MISSING",
      "webhook tool.completed  delivery 6f0e  attempt 2  signature verified",
      "webhook tool.completed  delivery 6f0e  attempt 2  signature WRONG (mismatch)",
      "webhook tool.completed  delivery 6f0e  attempt 2  signature WRONG (mismatch)",
    ]);
  });

  test("prints no control characters and responds with 413 to a huge body", async () => {
    const lines: string[] = [];
    await using receiver = await start(await temporaryFolder(), lines);
    const ca = await readFile(receiver.caFile, "utf8");
    await post(receiver.url, ca, { "x-service-event": "\u00e9\u0080[31mred", "x-service-delivery": "d".repeat(500) });
    expect(lines[0]).toMatch(/^webhook \?{4}\[31mred {2}delivery d{80} {2}attempt - /);
    const status = await post(receiver.url, ca, {}, Buffer.alloc(1_000_001)).catch((error) => error.code);
    expect([413, "EPIPE", "ECONNRESET"]).toContain(status);
    expect(lines).toHaveLength(1);
  });

  test("is trusted only through its own certificate, and keeps port, certificate and secret", async () => {
    const dataDir = await temporaryFolder();
    const first = await start(dataDir);
    await writeFile(receiverSecretFile(dataDir), SECRET);
    const ca = await readFile(receiverCaFile(dataDir), "utf8");
    await expect(post(first.url, undefined, {})).rejects.toThrow(/certificate/);
    await first[Symbol.asyncDispose]();
    const lines: string[] = [];
    await using second = await start(dataDir, lines);
    expect(second.url).toBe(first.url);
    await post(second.url, ca, { "x-service-signature": signature(SECRET) });
    expect(lines[0]).toContain("signature verified");
    expect((await stat(join(dataDir, "receiver", "certificate.json"))).mode & 0o777).toBe(0o600);
  });
});
