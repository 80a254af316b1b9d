import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Execution, HostCall } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";

/** A run or a host call of a timeline, in the order in which they are drawn. */
export interface Step {
  key: string;
  /** 0 for the run that is shown. */
  level: number;
  /** From the start of the run that is shown; undefined when it was not recorded. */
  startMs: number | undefined;
  durationMs: number;
  run?: Execution;
  call?: HostCall;
}

/** A run, its host calls and the runs that it caused, each under the run that it belongs to. */
export function timelineOf(root: Execution, nested: readonly Execution[]): Step[] {
  const byParent = Map.groupBy(nested, ({ parentId }) => parentId);
  const zeroMs = startOf(root);
  const stepsOf = (run: Execution, level: number): Step[] => {
    const startMs = startOf(run) - zeroMs;
    const children = byParent.get(run.id) ?? [];
    const calls = withoutNested(run.hostCalls, children).map((call, index) => ({
      startMs: call.startedAfterMs === undefined ? undefined : startMs + call.startedAfterMs,
      steps: (at: number | undefined): Step[] => [
        { key: `${run.id}-${index}`, level: level + 1, startMs: at, durationMs: call.durationMs, call },
      ],
    }));
    const runs = children.map((child) => ({
      startMs: startOf(child) - zeroMs,
      steps: () => stepsOf(child, level + 1),
    }));
    const inOrder = [...runs, ...calls].sort((a, b) => (a.startMs ?? Infinity) - (b.startMs ?? Infinity));
    const own: Step = { key: run.id, level, startMs, durationMs: run.durationMs, run };
    return [own, ...inOrder.flatMap((part) => part.steps(part.startMs))];
  };
  return stepsOf(root, 0);
}

/** When the last step that has a start ends. */
export function endOf(steps: readonly Step[]): number {
  return Math.max(1, ...steps.map(({ startMs = 0, durationMs }) => startMs + durationMs));
}

function startOf({ startedAt }: Execution): number {
  return startedAt ? timestampMs(startedAt) : 0;
}

/** Calls of tools that became a run are drawn as that run. */
function withoutNested(calls: readonly HostCall[], children: readonly Execution[]): HostCall[] {
  const runs = new Map<string, number>();
  for (const { tool } of children) runs.set(tool, (runs.get(tool) ?? 0) + 1);
  return calls.filter(({ name, target }) => {
    const left = name === "callTool" ? (runs.get(target) ?? 0) : 0;
    if (left > 0) runs.set(target, left - 1);
    return left === 0;
  });
}
