import { HOST_FUNCTIONS } from "../../services/tool-runner/src/domain/host-functions.ts";
import { CpuShare } from "../../services/tool-runner/src/sandbox/child/cpu-share.ts";
import { Isolate } from "../../services/tool-runner/src/sandbox/child/isolate.ts";
import { compileHandler } from "../../services/tool-runner/src/sandbox/compile.ts";
import { DEFAULT_POOL_LIMITS } from "../../services/tool-runner/src/sandbox/limits.ts";
import { LIMIT_MS, type Subject, type Tenant } from "./subject.ts";

const MAX_RESULT_CHARS = 1024 * 1024;

/** The engine of the product, in this process: an isolate with a hardened realm for each tool. */
export function openIsolatedVm(): Subject {
  const share = new CpuShare();
  const settings = { functions: HOST_FUNCTIONS, ...DEFAULT_POOL_LIMITS };
  return {
    name: "isolated-vm, an isolate per tool",
    async open(handler): Promise<Tenant> {
      const isolate = new Isolate(settings, share);
      const compiled = compileHandler(`export default ${handler}`);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.violations));
      isolate.compile(compiled.code);
      let ticket = 0;
      return {
        pids: [],
        async call(argsJson) {
          ticket += 1;
          let step = isolate.run("start", [ticket, argsJson, true, false, MAX_RESULT_CHARS], LIMIT_MS);
          for (;;) {
            if (step.outcome !== "done") throw new Error(step.outcome);
            const [kind, , ...rest] = step.reports[0] as [string, number, ...string[]];
            if (kind === "ok") return rest[0] as string;
            if (kind !== "call") throw new Error(rest.join());
            const [callId, , hostArgs] = rest as unknown as [number, string, string];
            const result = JSON.stringify(JSON.parse(hostArgs)[1]);
            step = isolate.run("resolve", [ticket, callId, result], LIMIT_MS);
          }
        },
        [Symbol.asyncDispose]: async () => isolate[Symbol.dispose](),
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
