/// What one step of the intake may hold, so that Redis is not held up for more than 5 ms.
struct StepLimits {
    var tokens = 16_384
    var jobs = 256
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
