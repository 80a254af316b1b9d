import { launch } from "@toolgate/service-host/launch";
import { service } from "./service.ts";

await launch(service);
