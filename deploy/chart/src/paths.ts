import { fileURLToPath } from "node:url";

/** The chart's folder. */
export const CHART = fileURLToPath(new URL("../../../charts/toolgate/", import.meta.url));
export const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
