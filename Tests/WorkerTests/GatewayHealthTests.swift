import Testing

@testable import Worker

@Suite struct GatewayHealthTests {
    @Test func `five refused topics in a row pause the app unless another response comes between`() {
        var troubles = GatewayHealth()
        for _ in 0..<3 {
            for _ in 0..<4 {
                let pauses = troubles.topicRefused()
                #expect(!pauses)
            }
            troubles.delivered()
        }
        let pauses = (0..<6).map { _ in troubles.topicRefused() }
        #expect(pauses == [false, false, false, false, true, true])
    }
}
