import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { openGroup } from "../../../src/isolation/cgroups.ts";

/** A service with a child in a cgroup, both of which never end by themselves. */
const [, , folder = ""] = process.argv;
const { joinFile } = openGroup(folder, 100);
const child = spawn("sh", ["-c", 'echo 0 > "$0" && echo joined && exec sleep 1000', joinFile], {
  detached: true,
  stdio: ["ignore", "pipe", "inherit"],
});
child.stdout.once("data", () => console.log(JSON.stringify({ left: dirname(joinFile), pid: child.pid })));
setInterval(() => {}, 1_000);
