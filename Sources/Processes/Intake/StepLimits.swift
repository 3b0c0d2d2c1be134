/// What one step of the intake may hold, so that Redis is not held up for more than 5 ms, or 10 ms by small jobs: the more
/// of them are in a step, the larger are its batches.
struct StepLimits {
    var tokens = 16_384
    var jobs = 640
    var batches = 128
    /// Of malformed tokens.
    var events = 256
    /// Of all bodies together; one push may go beyond.
    var bytes = 2 << 20
    /// Of one batch.
    var positions = 256
    /// When so many tokens are in and more are waiting, a full batch ends the step: the rest of its shard would
    /// start a small one.
    var tokensBeforeEarlyEnd = 8_192
}
