import EventLoop

/// Waits until a condition holds that nobody tells about, such as a counter of the simulator.
/// - Returns: false when it did not come true for so long that something must be broken.
@Loop package func until(_ condition: @escaping @Loop () -> Bool) async -> Bool {
    let mailbox = Mailbox<Bool>()
    var rounds = 0
    let timer = Timer {
        rounds += 1
        guard condition() || rounds > 20_000 else { return }
        mailbox.put(rounds <= 20_000)
    }
    timer.start(after: .zero, every: .milliseconds(1))
    defer { timer.stop() }
    return (try? await mailbox.next()) ?? false
}
