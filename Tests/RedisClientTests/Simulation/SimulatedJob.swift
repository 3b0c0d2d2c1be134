import PushModel

/// A job from a producer and its expected result.
struct SimulatedJob {
    let number: Int
    /// The id of the job; nil if the job has none, so that the farm makes one.
    let id: String?
    let tokens: [[UInt8]]
    let delivery: DeliveryGuarantee
    let lane: Lane
    /// The Redis time in milliseconds before which no push may be sent; 0 if the pushes may be sent at once.
    let due: Int64
    let raw: [UInt8]
    /// Whether a process that reads a batch of the job crashes.
    let isPoison: Bool
    /// For a campaign: for each device, the index of its token, or nil if the device cannot be sent to.
    var devices: [Int?]?
    /// The devices of a campaign that have reported that they are done.
    var reported: Set<Int> = []
    /// Whether Redis returned to a state from before the push of the job.
    var mayBeLost = false
    /// Whether an operator has cancelled the job.
    var mayBeCancelled = false

    /// Of all campaigns with this property, a device gets at most ``cap`` pushes.
    var isCapped: Bool { devices != nil && number.isMultiple(of: 2) }
    static let cap = 2

    init(number: Int, simulation: Simulation) {
        let count = simulation.chance(15) ? 40 + simulation.below(60) : 1 + simulation.below(20)
        self.number = number
        id = simulation.chance(20) ? nil : "job-\(number)"
        delivery = simulation.chance(20) ? .atMostOnce : .atLeastOnce
        lane = simulation.chance(30) ? .bulk : .high
        due = simulation.chance(15) ? simulation.clock.redisMilliseconds + Int64(simulation.below(60_000)) : 0
        tokens = (0..<count).map { index in
            [UInt8(number), UInt8(index), 9, 9] + [UInt8](repeating: UInt8(index), count: 12)
        }
        isPoison = simulation.below(100) < simulation.profile.poisonJobs
        if simulation.below(100) < simulation.profile.poisonTokens {
            simulation.gateway.poison.insert(tokens[simulation.below(count)])
        }
        raw = Array("\(number)".utf8)
    }

    /// Makes a campaign. Every ninth of its devices cannot be sent to; other campaigns can send to some of these devices.
    init(campaign number: Int, simulation: Simulation) {
        let count = 1 + simulation.below(60)
        var tokens = 0
        devices = (0..<count).map { index in
            guard (index + number) % 9 != 8 else { return nil }
            tokens += 1
            return tokens - 1
        }
        self.number = number
        id = "campaign-\(number)"
        delivery = .atLeastOnce
        lane = .bulk
        due = 0
        self.tokens = (0..<tokens).map { index in
            [UInt8(number), UInt8(index), 9, 9] + [UInt8](repeating: UInt8(index), count: 12)
        }
        raw = []
        isPoison = false
    }
}
