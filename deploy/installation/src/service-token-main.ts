// Prints a token for grpcurl, valid for a minute: node service-token-main.ts gateway key-auth, with the gateway's SERVICE_KEY.
import { readIdentity } from "@toolgate/service-host/identity/service-keys";
import { createServiceTokens } from "@toolgate/service-host/identity/service-token";
import { SERVICE_NAMES } from "@toolgate/service-registry/services";

const [caller, called] = process.argv.slice(2).map((name) => SERVICE_NAMES.find((known) => known === name));
const env = { SERVICE_KEY: process.env.SERVICE_KEY, SERVICE_PUBLIC_KEYS: process.env.SERVICE_PUBLIC_KEYS };
const { serviceKey } = caller && called ? readIdentity(env, caller) : {};
if (caller && called && serviceKey) {
  process.stdout.write(`${await createServiceTokens(caller, serviceKey, Date.now)(called)}\n`);
} else {
  process.stderr.write(
    "Usage: node deploy/installation/src/service-token-main.ts <calling service> <called service>\n",
  );
  process.exitCode = 1;
}
