import { launchPlain } from "@toolgate/service-host/process/launch-plain";
import { service } from "./service.ts";

await launchPlain(service);
