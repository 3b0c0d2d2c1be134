import Testing

@testable import Coordinator

/// The phases of a coordinator and the transitions that each phase allows.
@Suite struct LifecycleTests {
    private func serving() -> Lifecycle {
        let lifecycle = Lifecycle(.first)
        lifecycle.startChildren()
        return lifecycle
    }

    private func handingOver() -> Lifecycle {
        let lifecycle = serving()
        lifecycle.beginUpgrade()
        lifecycle.beginHandOver()
        return lifecycle
    }

    private func handedOver() -> Lifecycle {
        let lifecycle = handingOver()
        lifecycle.beginToEndChildren()
        lifecycle.giveUpHostName()
        return lifecycle
    }

    @Test func `the first coordinator of a host owns the name from the start`() {
        let lifecycle = Lifecycle(.first)
        #expect(lifecycle.nameHolder == .thisProcess)
        #expect(!lifecycle.hasChildren)
        lifecycle.startChildren()
        #expect(lifecycle.phase == .serving)
        #expect(lifecycle.actsForHost)
    }

    @Test func `a successor acts for the host only when it has the host's name`() {
        let lifecycle = Lifecycle(.successor)
        lifecycle.startChildren()
        #expect(lifecycle.phase == .awaitingHostName)
        #expect(!lifecycle.actsForHost)
        lifecycle.takeHostName()
        #expect(lifecycle.phase == .serving)
        #expect(lifecycle.actsForHost)
    }

    @Test func `a successor that stops before its turn leaves the name to its predecessor`() {
        let lifecycle = Lifecycle(.successor)
        lifecycle.startChildren()
        lifecycle.stop()
        #expect(lifecycle.nameHolder == .predecessor)
        lifecycle.takeHostName()
        #expect(lifecycle.nameHolder == .thisProcess)
        #expect(lifecycle.isStopping)
    }

    @Test func `after an upgrade the successor owns the name`() {
        let lifecycle = handingOver()
        #expect(lifecycle.isHandingOver)
        lifecycle.beginToEndChildren()
        #expect(lifecycle.isHandingOver)
        lifecycle.giveUpHostName()
        #expect(lifecycle.nameHolder == .successor)
        lifecycle.stop()
        lifecycle.endUpgrade()
        #expect(lifecycle.isStopping)
        #expect(lifecycle.nameHolder == .successor)
        #expect(lifecycle.failure == nil)
    }

    @Test func `an aborted upgrade returns to serving`() {
        let lifecycle = handingOver()
        lifecycle.abortUpgrade()
        #expect(lifecycle.isAborting)
        #expect(!lifecycle.isHandingOver)
        lifecycle.endUpgrade()
        #expect(lifecycle.phase == .serving)
    }

    @Test func `an abort is too late once the children end`() {
        let lifecycle = handingOver()
        lifecycle.beginToEndChildren()
        lifecycle.abortUpgrade()
        #expect(!lifecycle.isAborting)
        lifecycle.giveUpHostName()
        #expect(lifecycle.phase == .handedOver)
    }

    @Test func `a lost successor returns the name and is the cause of the exit`() {
        let lifecycle = handedOver()
        lifecycle.takeHostNameBack()
        #expect(lifecycle.nameHolder == .thisProcess)
        lifecycle.stop(because: .successorLost)
        #expect(lifecycle.failure == .successorLost)
    }

    @Test func `a stop does not stop an upgrade while the children end`() {
        let lifecycle = handingOver()
        lifecycle.beginToEndChildren()
        lifecycle.stop()
        lifecycle.giveUpHostName()
        #expect(lifecycle.isStopping)
        #expect(lifecycle.nameHolder == .successor)
        lifecycle.takeHostNameBack()
        #expect(lifecycle.nameHolder == .thisProcess)
    }

    @Test func `the first failure determines the exit`() {
        let lifecycle = serving()
        lifecycle.stop()
        lifecycle.stop(because: .hostNameTaken("a"))
        lifecycle.stop(because: .successorLost)
        #expect(lifecycle.failure == .hostNameTaken("a"))
    }

    @Test func `no process owns the name after the end`() {
        let lifecycle = serving()
        lifecycle.stop()
        lifecycle.childrenHaveEnded()
        #expect(lifecycle.haveChildrenEnded)
        lifecycle.leaveHosts()
        #expect(lifecycle.nameHolder == .nobody)
        #expect(!lifecycle.actsForHost)
    }

    @Test func `a host that is drained while quiet stays quiet until it resumes`() {
        let lifecycle = serving()
        lifecycle.becomeQuiet()
        lifecycle.becomeDrained()
        #expect(lifecycle.participation == .drained(isQuiet: true))
        #expect(lifecycle.isQuiet && lifecycle.isDrained && lifecycle.isLeaving)
        lifecycle.resume()
        #expect(lifecycle.participation == .full)
        #expect(!lifecycle.isLeaving)
    }

    @Test func `a drained host may be quieted`() {
        let lifecycle = serving()
        lifecycle.becomeDrained()
        lifecycle.becomeQuiet()
        #expect(lifecycle.participation == .drained(isQuiet: true))
    }

    @Test func `transitions that a phase does not allow crash the process`() async {
        await #expect(processExitsWith: .failure) { Lifecycle(.first).stop() }
        await #expect(processExitsWith: .failure) { Lifecycle(.first).beginUpgrade() }
        await #expect(processExitsWith: .failure) { Lifecycle(.first).takeHostName() }
        await #expect(processExitsWith: .failure) { Lifecycle(.first).resume() }
        await #expect(processExitsWith: .failure) { Lifecycle(.first).leaveHosts() }
        await #expect(processExitsWith: .failure) {
            let lifecycle = Lifecycle(.first)
            lifecycle.startChildren()
            lifecycle.startChildren()
        }
        await #expect(processExitsWith: .failure) {
            let lifecycle = Lifecycle(.successor)
            lifecycle.startChildren()
            lifecycle.stop()
            lifecycle.leaveHosts()
        }
    }
}
