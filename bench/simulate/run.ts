// Simulates the delivery of webhooks and writes bench/SIMULATION.md; takes about two minutes.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compare } from "./compare.ts";
import type { RealFigures } from "./measure-real.ts";
import { renderSimulation } from "./report.ts";
import { simulateAll } from "./scenarios.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const real = JSON.parse(await readFile(file("./real.json"), "utf8")) as RealFigures[];
const figures = simulateAll((line) => void process.stderr.write(`${line}\n`));
await writeFile(file("../SIMULATION.md"), renderSimulation(figures, compare(real)));
