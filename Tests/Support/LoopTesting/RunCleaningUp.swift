import EventLoop

/// Runs `body`, and then `cleanUp` even if `body` throws.
@Loop package func run(
    _ body: @Loop () async throws -> Void, cleaningUp cleanUp: @Loop () async throws -> Void
) async throws {
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    try await cleanUp()
    try outcome.get()
}
