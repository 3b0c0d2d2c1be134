import EventLoop

/// Runs `body`, and then `cleanUp` even if `body` throws.
@Loop package func run(
    _ body: @Loop () async throws -> Void, cleaningUp cleanUp: @Loop () throws -> Void
) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    try cleanUp()
    try outcome.get()
}
