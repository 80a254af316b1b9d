import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A service of a compose file, as far as Toolgate's use it. */
export interface ComposeService {
  image: string;
  user?: string;
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  volumes?: string[];
  configs?: { source: string; target: string }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  profiles?: string[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
}

export interface ComposeFile {
  text: string;
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean }>;
  configs: Record<string, { content: string }>;
}

/** The file with its anchors resolved, and its variables as they are. */
export function readCompose(path: URL | string): ComposeFile {
  const text = readFileSync(path, "utf8");
  return { volumes: {}, networks: {}, configs: {}, ...parse(text, { merge: true }), text };
}

const VARIABLE = /\$\{(\w+)(?::([-?])([^}]*))?\}/g;

/** The variables that the file takes from outside, each with its default; undefined: it is required. */
export function variablesOf({ text }: ComposeFile): Record<string, string | undefined> {
  const found = [...text.matchAll(VARIABLE)].map(([, name = "", sign, rest]) => [
    name,
    sign === "-" ? rest : undefined,
  ]);
  return Object.fromEntries(found);
}

/** As Compose does it. Throws for a required variable that is missing. */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (_, name: string, sign: string, rest: string) => {
    const value = env[name] || (sign === "-" ? rest : undefined);
    if (value === undefined) throw new Error(`${name} is missing: ${rest}`);
    return value;
  });
}
