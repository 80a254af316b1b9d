import type { Actor } from "../store/audit.ts";

export const OPERATOR: Actor = { id: null, name: "operator" };
