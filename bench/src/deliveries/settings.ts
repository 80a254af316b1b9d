import type { BenchInstallation } from "../installation/start-installation.ts";
import type { Traffic } from "./traffic.ts";

export type DeliveriesSettings = {
  installation: BenchInstallation;
  traffic: Traffic;
  receiverUrl: string;
  seconds: number;
  log: (line: string) => void;
};
