import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRig, type Rig, THIS } from "./rig.ts";

const CLIENTS = 40;
const ROLLS = 4;
/** Each client has another pause, so that a gateway that closes an idle connection meets requests on their way. */
const MAX_PAUSE_MS = 40;

describe("clients that keep their connections", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  }, 300_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("gateways that stop tell their clients, and cut no connection on which a request may come", async () => {
    const url = `${rig.work.baseUrl}/api/v1/tools/emitter`;
    const failures: string[] = [];
    let isOver = false;
    let calls = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver) {
        const status = await statusOf(url, agent).catch((error: Error) => error.message);
        calls += 1;
        if (status !== 401) failures.push(String(status));
        await sleep((index * MAX_PAUSE_MS) / CLIENTS);
      }
      agent.destroy();
    });
    for (let roll = 0; roll < ROLLS; roll += 1) await rig.cluster.roll("gateway", THIS);
    isOver = true;
    await Promise.all(clients);
    console.log(`${calls} requests, ${failures.length} failed`);
    expect(failures).toEqual([]);
  }, 300_000);
});

/** A request without a key, which the gateway refuses by itself. */
function statusOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}
