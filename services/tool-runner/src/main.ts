import { launch } from "@toolgate/service-host/launch";
import { launchPlain } from "@toolgate/service-host/launch-plain";
import { readRole } from "./sandbox-config.ts";

// Imported only as needed: a sandbox process has no use for clients of databases.
if (readRole(process.env) === "sandbox") await launchPlain((await import("./roles/sandbox.ts")).sandbox);
else await launch((await import("./service.ts")).service);
