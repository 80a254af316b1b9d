import { writeFileSync } from "node:fs";
import { NEVER_NEEDED, SOCKET, SOCKET_FAMILIES } from "./system-calls.ts";

const EPERM = 1;
const FILE = new URL("../../../../../deploy/seccomp/sandbox.json", import.meta.url);

/**
 * A Kubernetes seccomp profile for pods of the service sandbox. It leaves what puts the layers around children, which are
 * then forbidden it by a filter of their own. `node kubernetes-profile.ts` writes it, after a change of the table.
 */
export function kubernetesProfile(): object {
  const [name] = SOCKET;
  const last = Math.max(...SOCKET_FAMILIES);
  const others = Array.from({ length: last }, (_, family) => family).filter((one) => !SOCKET_FAMILIES.includes(one));
  const refuseFamily = (value: number, op: string) => ({
    names: [name],
    action: "SCMP_ACT_ERRNO",
    errnoRet: EPERM,
    args: [{ index: 0, value, op }],
  });
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
    syscalls: [
      { names: NEVER_NEEDED.map(([call]) => call).toSorted(), action: "SCMP_ACT_ERRNO", errnoRet: EPERM },
      ...others.map((family) => refuseFamily(family, "SCMP_CMP_EQ")),
      refuseFamily(last, "SCMP_CMP_GT"),
    ],
  };
}

if (import.meta.main) writeFileSync(FILE, `${JSON.stringify(kubernetesProfile(), null, 2)}\n`);
