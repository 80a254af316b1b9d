import { figure } from "./table.ts";

/** What is wanted of a figure. */
export type Target = {
  what: string;
  measured: number;
  sign: "≥" | "≤" | "<";
  wanted: number;
  show: (value: number) => string;
};

export function below(what: string, measured: number, wanted: number, digits: number): Target {
  return { what, measured, sign: "<", wanted, show: (ms) => `${figure(ms, ms === wanted ? 0 : digits)} ms` };
}
