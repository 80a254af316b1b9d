import { expect, test } from "vitest";
import { summarise } from "./summarise.ts";

const frame = (functionName: string, url: string, lineNumber = 0) => ({ functionName, url, lineNumber });

test("self time is summed by function and by module, idle time left out", () => {
  const profile = {
    nodes: [
      { id: 1, callFrame: frame("(idle)", "") },
      { id: 2, callFrame: frame("parse", "file:///x/node_modules/pg/lib/query.js", 9) },
      { id: 3, callFrame: frame("", "file:///x/services/gateway/src/http/server.ts", 4) },
      { id: 4, callFrame: frame("parse", "file:///x/node_modules/pg/lib/query.js", 9) },
      { id: 5, callFrame: frame("(garbage collector)", "") },
    ],
    samples: [1, 2, 3, 4, 5],
    timeDeltas: [1_000, 30, 40, 20, 10],
  };
  const { busyUs, functions, modules } = summarise(profile, 10);
  expect(busyUs).toBe(100);
  expect(functions.map(({ what, share }) => [what, share])).toEqual([
    ["parse pg/lib/query.js:10", 0.5],
    ["(anonymous) services/gateway/src/http/server.ts:5", 0.4],
    ["(garbage collector) (garbage collector):1", 0.1],
  ]);
  expect(modules[0]).toEqual({ what: "pg/lib/query.js", share: 0.5, perCallUs: 5 });
});
