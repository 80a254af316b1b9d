import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { kubernetesProfile } from "./kubernetes-profile.ts";

/** `node services/sandbox/src/isolation/seccomp/write-profile.ts`, after a change of the table. */
const file = fileURLToPath(new URL("../../../../../deploy/seccomp/sandbox.json", import.meta.url));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(kubernetesProfile(), null, 2)}\n`);
