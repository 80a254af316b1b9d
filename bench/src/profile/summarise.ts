/** The parts of a .cpuprofile that are read. */
export type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
};

export type Cost = { what: string; share: number; perCallUs: number };

const IDLE = "(idle)";

/**
 * Time on the processor by module and by function, each with what it does itself and not what it calls, the dearest
 * first. Native code that JavaScript calls counts for the calling function.
 */
export function summarise(profile: CpuProfile, calls: number): { busyUs: number; modules: Cost[]; functions: Cost[] } {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const modules = new Map<string, number>();
  const functions = new Map<string, number>();
  let busyUs = 0;
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id);
    const us = profile.timeDeltas[index] ?? 0;
    if (!frame || frame.functionName === IDLE) return;
    busyUs += us;
    const module = moduleOf(frame.url) || frame.functionName;
    add(modules, module, us);
    add(functions, `${frame.functionName || "(anonymous)"} ${module}:${frame.lineNumber + 1}`, us);
  });
  const costs = (sums: Map<string, number>) =>
    [...sums]
      .map(([what, us]) => ({ what, share: us / busyUs, perCallUs: us / calls }))
      .sort((a, b) => b.share - a.share);
  return { busyUs, modules: costs(modules), functions: costs(functions) };
}

function add(sums: Map<string, number>, name: string, us: number): void {
  sums.set(name, (sums.get(name) ?? 0) + us);
}

/** "pg/lib/query.js" of a library, "services/gateway/src/http/server.ts" of this repository, "node:net" of Node. */
function moduleOf(url: string): string {
  const [, library] = url.split("/node_modules/");
  if (library) return library;
  return url.replace(/^file:.*\/((packages|services|deploy|gen|bench)\/)/, "$1");
}
