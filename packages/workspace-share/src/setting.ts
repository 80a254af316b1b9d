const MIB = 1024 * 1024;

/** The variable of the same name: the bytes per second of one workspace in one process, and their default. */
export const WORKSPACE_BYTES_PER_SECOND = { fallback: 8 * MIB, min: 64 * 1024, max: 1024 * MIB };
