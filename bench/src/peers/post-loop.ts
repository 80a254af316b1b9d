// What one would write by hand: a loop that signs each body and posts it. It stores nothing and repeats nothing.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sign } from "@toolgate/webhook-signing/sign";
import { Pool } from "undici";
import { childArgument, monotonicMs, replyToParent } from "../bench-process.ts";
import type { Published } from "../deliveries/messages.ts";

export type PostLoopArgument = { url: string; ca: string };
/** Posts as many at the same time as `connections`; at a steady pace if `perSecond` is given. */
export type PostLoopOrder = { paths: string[]; connections: number; perSecond?: number; forMs: number };

const SECRET = "whsec_cGVlcg==";
const TICK_MS = 1;

const { url, ca } = childArgument<PostLoopArgument>();
let next = 0;

async function post(pool: Pool, path: string): Promise<void> {
  const data = { n: next++, at: monotonicMs() };
  const created = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({ id: `evt_${randomUUID()}`, type: "custom.peer", created, workspace: "peer", data });
  const headers = { "content-type": "application/json", "x-service-signature": sign(SECRET, created, body) };
  const response = await pool.request({ method: "POST", path, headers, body });
  await response.body.dump();
}

replyToParent<PostLoopOrder, Published>({}, async ({ paths, connections, perSecond, forMs }) => {
  const pool = new Pool(url, { connections, pipelining: 1, connect: { ca } });
  const from = next;
  const startMs = performance.now();
  const pathOf = (index: number) => paths[index % paths.length] as string;
  if (perSecond === undefined) {
    await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        while (performance.now() - startMs < forMs) await post(pool, pathOf(index));
      }),
    );
  } else {
    const open: Promise<void>[] = [];
    for (let passedMs = 0; passedMs < forMs; passedMs = performance.now() - startMs) {
      while (open.length < (passedMs * perSecond) / 1000) open.push(post(pool, pathOf(open.length)));
      await sleep(TICK_MS);
    }
    await Promise.all(open);
  }
  await pool.destroy();
  return { from, until: next };
});
