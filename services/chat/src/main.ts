import { launch } from "@toolgate/service-host/process/launch";
import { service } from "./service.ts";

await launch(service);
