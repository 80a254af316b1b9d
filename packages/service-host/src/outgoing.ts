import type { EnvReader } from "./env.ts";

/** Which servers a service may call on behalf of users. */
export interface OutgoingSettings {
  /** Names and addresses of this installation, which may not be called. */
  applicationHosts: string[];
  /** Non-public addresses that may be called; development only. */
  allowedTargets: string[];
  /** PEM file of certificates that are trusted as well as the usual authorities; empty: none. Development only. */
  targetCaFile: string;
}

export interface MailSettings {
  smtpUrl: string;
  from: string;
}

export function readOutgoing(reader: EnvReader): OutgoingSettings {
  const allowedTargets = reader.list("ALLOWED_TARGETS");
  const targetCaFile = reader.text("TARGET_CA_FILE", "");
  const environment = reader.choice("NODE_ENV", ["production", "development", "test"], "production");
  if (environment === "production" && (allowedTargets.length > 0 || targetCaFile !== "")) {
    reader.fail("ALLOWED_TARGETS and TARGET_CA_FILE are for development and refused in production");
  }
  return { applicationHosts: reader.list("APPLICATION_HOSTS"), allowedTargets, targetCaFile };
}

/** Undefined when the service sends no email. */
export function readMail(reader: EnvReader): MailSettings | undefined {
  const smtpUrl = reader.text("SMTP_URL", "");
  return smtpUrl === "" ? undefined : { smtpUrl, from: reader.text("MAIL_FROM") };
}
