import { monotonicMs, replyToParent } from "./child-process.ts";

/** Asks how long all pauses since then took together, by `monotonicMs`. */
export type PauseRequest = { sinceMs: number };
export type PauseReply = { pausedMs: number };

const EVERY_MS = 4;
const PAUSE_MS = 12;
const KEPT = 1_000;

const pauses: { endedMs: number; tookMs: number }[] = [];
let lastMs = monotonicMs();
setInterval(() => {
  const nowMs = monotonicMs();
  if (nowMs - lastMs >= PAUSE_MS) pauses.push({ endedMs: nowMs, tookMs: nowMs - lastMs });
  if (pauses.length > KEPT) pauses.shift();
  lastMs = nowMs;
}, EVERY_MS);

replyToParent({}, async ({ sinceMs }: PauseRequest): Promise<PauseReply> => {
  const since = pauses.filter(({ endedMs }) => endedMs >= sinceMs);
  return { pausedMs: since.reduce((sum, { tookMs }) => sum + tookMs, 0) };
});
