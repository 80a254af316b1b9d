/** Why a definition cannot be saved, and where: `handler:3:14`, `parameters.properties.email.pattern`, `api.url`. */
export type Fault = { path: string; message: string };
