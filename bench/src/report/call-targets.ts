import {
  type CallFigures,
  COST_CONCURRENCY,
  callsPerCpuSecond,
  serverCpuPerCallUs,
  throughput,
} from "../calls/measure-calls.ts";
import { median, ratio } from "../statistics.ts";
import { figure, percent } from "./table.ts";
import type { Target } from "./target.ts";

/** A tool call against the hand-written fastify server, which makes one round trip each to PostgreSQL and Redis. */
export function callTargets({ fastify, single, split }: CallFigures): Target[] {
  if (!single) return [];
  const splitShare: Target = {
    what: "Tool call, split: calls per CPU second, share of single",
    measured: ratio(callsPerCpuSecond(split), callsPerCpuSecond(single)),
    sign: "≥",
    wanted: 0.85,
    show: percent,
  };
  if (!fastify) return [splitShare];
  const halfLoad = (of: "p50Ms" | "p99Ms") => {
    const [peer, own] = [fastify, single].map((one) => median(one.halfLoad.map(({ load }) => load.latency[of])));
    return ratio(own ?? Number.NaN, peer ?? Number.NaN);
  };
  const faster = (connections: number) => ratio(throughput(single, connections), throughput(fastify, connections));
  const cpu = ratio(serverCpuPerCallUs(single), serverCpuPerCallUs(fastify));
  return [
    times(`CPU per call, ${COST_CONCURRENCY} connections, all processes`, cpu, "≤", 1.05),
    times("calls per second, 64 connections", faster(64), "≥", 0.95),
    times("calls per second, 256 connections", faster(256), "≥", 0.95),
    times("time per call, one connection", 1 / faster(1), "≤", 2),
    times("half load: p50", halfLoad("p50Ms"), "≤", 3),
    times("half load: p99", halfLoad("p99Ms"), "≤", 2),
    splitShare,
  ];
}

function times(what: string, measured: number, sign: Target["sign"], wanted: number): Target {
  const show = (value: number) => figure(value, 2);
  return { what: `Tool call, times fastify with PostgreSQL and Redis: ${what}`, measured, sign, wanted, show };
}
