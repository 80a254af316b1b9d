// The operator's commands in one program, for the image: `doctor` examines the installation, all others are key-auth's.
import { examine, report } from "./doctor/doctor.ts";
import { loginsIn } from "./logins.ts";

const [command] = process.argv.slice(2);
if (command === "doctor") {
  const findings = await examine(process.env);
  process.stdout.write(`${report(findings)}\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
} else {
  if (process.env.LOGINS) Object.assign(process.env, loginsIn(process.env.LOGINS)["key-auth"]);
  await import("@toolgate/key-auth/admin");
  if (command === undefined)
    process.stderr.write(
      "  doctor                            says what is wrong in the installation, and what to do\n",
    );
}
