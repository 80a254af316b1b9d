import { launchPlain } from "@toolgate/service-host/launch-plain";
import { service } from "./service.ts";

await launchPlain(service);
