// The load generator, a process of its own: runs one order at a time.
import { answerParent } from "../machine/child-side.ts";
import { runClosedLoop } from "./closed-loop.ts";
import type { LoadOrder, LoadResult } from "./messages.ts";
import { runOpenLoop } from "./open-loop.ts";

answerParent<LoadOrder, LoadResult>({}, (order) =>
  order.mode.kind === "closed"
    ? runClosedLoop(order, order.mode.concurrency)
    : runOpenLoop(order, order.mode.perSecond),
);
