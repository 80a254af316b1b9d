import { LIMIT_MIB, LIMIT_MS, type Subject, type Tenant } from "./subject.ts";

const PACKAGE: string = "quickjs-emscripten";
const BYTES_PER_MIB = 1024 * 1024;

/** The part of the package that is used, because it may not be installed. */
type Handle = { dispose(): void };
type Result = { value?: Handle; error?: Handle };
type Context = {
  global: Handle;
  evalCode(code: string): Result;
  unwrapResult(result: Result): Handle;
  newFunction(name: string, call: (...args: Handle[]) => Handle): Handle;
  newString(text: string): Handle;
  getString(handle: Handle): string;
  setProp(target: Handle, name: string, value: Handle): void;
  callFunction(f: Handle, self: Handle, ...args: Handle[]): Result;
  undefined: Handle;
  dispose(): void;
};
type Runtime = {
  newContext(): Context;
  setMemoryLimit(bytes: number): void;
  setInterruptHandler(handler: () => boolean): void;
  executePendingJobs(): { error?: Handle };
  dispose(): void;
};

/** How a run enters the context, as in the product: texts in, texts out. */
const PROGRAM = (handler: string) => `(() => {
  const pending = [];
  const ctx = { callTool: (name, value) => new Promise((resolve) => { pending.push(resolve); host("call", JSON.stringify(value)) }) };
  const handler = ${handler};
  return (kind, json) => {
    const value = JSON.parse(json);
    if (kind === "result") pending.shift()(value);
    else handler(value, ctx).then((result) => host("ok", JSON.stringify(result)), (error) => host("fail", String(error)));
  };
})()`;

/** QuickJS in WASM: a runtime for each tenant, which is asked again and again whether it may go on. */
export async function openQuickJs(): Promise<Subject | undefined> {
  const quickJs = await import(PACKAGE)
    .then(async (found) => (await found.getQuickJS()) as { newRuntime(): Runtime })
    .catch(() => undefined);
  if (quickJs === undefined) return undefined;
  return {
    name: "QuickJS in WASM, a runtime per tenant",
    async open(handler): Promise<Tenant> {
      const runtime = quickJs.newRuntime();
      runtime.setMemoryLimit(LIMIT_MIB * BYTES_PER_MIB);
      let deadline = Number.POSITIVE_INFINITY;
      runtime.setInterruptHandler(() => performance.now() > deadline);
      const context = runtime.newContext();
      const reports: [kind: string, json: string][] = [];
      const host = context.newFunction("host", (kind, json) => {
        reports.push([context.getString(kind as Handle), context.getString(json as Handle)]);
        return context.undefined;
      });
      context.setProp(context.global, "host", host);
      const entry = context.unwrapResult(context.evalCode(PROGRAM(handler)));
      const enter = (kind: string, json: string) => {
        deadline = performance.now() + LIMIT_MS;
        const args = [context.newString(kind), context.newString(json)] as const;
        context.unwrapResult(context.callFunction(entry, context.undefined, ...args)).dispose();
        for (const arg of args) arg.dispose();
        const { error } = runtime.executePendingJobs();
        if (error !== undefined) throw new Error("interrupted");
      };
      return {
        pids: [],
        async call(argsJson) {
          enter("start", argsJson);
          for (;;) {
            const [kind, json] = reports.shift() ?? ["fail", "no report"];
            if (kind === "ok") return json;
            if (kind !== "call") throw new Error(json);
            enter("result", json);
          }
        },
        async [Symbol.asyncDispose]() {
          entry.dispose();
          host.dispose();
          context.dispose();
          runtime.dispose();
        },
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
