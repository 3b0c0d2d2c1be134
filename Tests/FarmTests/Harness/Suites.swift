import Testing

// Groups of suites: each group runs one farm at a time, and the groups run in parallel. A farm mostly waits, so a few groups
// fill two cores, and more farms at a time would only wait for CPU time. Add a suite to
// the group of its subject; the groups take about equally long.

/// Farms under load.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum BusyFarms {}

/// Farms that mostly wait for a timeout or a delay.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum PatientFarms {}

/// Farms whose processes and connections end.
@Suite(.serialized, .timeLimit(.minutes(5)), .keepsTraces) enum BrokenFarms {}

/// Farms that find invalid tokens and suppress them.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum TokenFarms {}

/// Farms with binary gateways, which wait for quiet times.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum BinaryFarms {}
