/**
 * Why a call's arguments are refused. `field` has dots between levels and is empty for the arguments as a whole; `rule`
 * is the schema keyword; `message` never holds a value that was sent. [ERR-2]
 */
export type Violation = { field: string; rule: string; message: string };
