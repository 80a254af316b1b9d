import { setFlagsFromString } from "node:v8";
import { launch } from "@toolgate/service-host/process/launch";
import { service } from "./service.ts";

// What was allocated to open a chat stream is garbage that has become old. V8 would let the heap double before it collects it.
setFlagsFromString("--heap-growing-percent=30");

await launch(service);
