import { type BenchProcess, startBenchProcess } from "../machine/child-process.ts";
import type { LoadOrder, LoadResult } from "./score.ts";

export type Generator = BenchProcess<object, LoadOrder, LoadResult>;

export async function startGenerator(resources: AsyncDisposableStack, signal: AbortSignal): Promise<Generator> {
  const entry = new URL("./generator.ts", import.meta.url);
  return resources.use(await startBenchProcess<object, LoadOrder, LoadResult>(entry, { signal }));
}
