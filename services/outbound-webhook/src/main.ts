import { launch } from "@toolgate/service-host/launch";
import { remoteTransport } from "@toolgate/service-host/transport";
import { createListAdminEmails } from "./clients/admin-emails.ts";
import { outboundWebhookProcessConfig } from "./config.ts";
import { startOutboundWebhook } from "./service.ts";

await launch({
  name: "outbound-webhook",
  env: process.env,
  readConfig: outboundWebhookProcessConfig,
  start: (config, { log, internalToken }) =>
    startOutboundWebhook(config, {
      log,
      listAdminEmails: config.mail
        ? createListAdminEmails(remoteTransport(config.keyAuthUrl, internalToken))
        : async () => [],
    }),
});
