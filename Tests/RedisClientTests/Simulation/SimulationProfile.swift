/// The kinds and rates of faults in a simulation.
struct SimulationProfile: Sendable, CustomStringConvertible {
    let name: String
    /// How many of 1000 requests are lost, executed twice, executed without a reply, and executed later without a reply.
    var lost = 20
    var twice = 30
    var replyLost = 30
    var late = 10
    /// The number of worker kills in 10,000 turns. The properties up to `pauses` count other faults in the same way.
    var workerKills = 0
    var workerStops = 0
    var hostKills = 0
    var hostStops = 0
    var handOvers = 0
    var rollBacks = 0
    var clockJumps = 0
    var flushes = 0
    var pauses = 0
    /// The number of operators' commands in 10,000 turns:
    /// `cancels` cancel a job, `holds` pause a job or a device, and `promotions` start a delayed job at once.
    var cancels = 0
    var holds = 0
    var promotions = 0
    /// How many of 100 jobs are campaigns.
    var campaigns = 0
    /// The number of workers in a whole run that crash although no push is the cause.
    var ownCrashes = 0
    /// How many of 100 jobs have a token that crashes its sender, and how many have a body that crashes its reader.
    var poisonTokens = 0
    var poisonJobs = 0

    var description: String { name }

    /// Only connections fail: they lose, repeat and delay requests.
    static let quiet = SimulationProfile(name: "quiet", handOvers: 60, pauses: 20)
    /// Processes and machines that die, stop and return.
    static let kills = SimulationProfile(
        name: "kills", workerKills: 150, workerStops: 60, hostKills: 50, hostStops: 40, handOvers: 60,
        flushes: 10, pauses: 20, ownCrashes: 2)
    /// Pushes that crash their sender or reader.
    static let poison = SimulationProfile(
        name: "poison", workerKills: 20, handOvers: 30, poisonTokens: 12, poisonJobs: 5)
    /// A Redis that forgets its last seconds.
    static let rollBacks = SimulationProfile(
        name: "roll-backs", workerKills: 60, workerStops: 30, hostKills: 20, hostStops: 20, handOvers: 40,
        rollBacks: 120, flushes: 10)
    /// A Redis whose clock jumps forward and back.
    static let clock = SimulationProfile(
        name: "clock", workerKills: 40, workerStops: 40, hostStops: 30, handOvers: 40, clockJumps: 150)
    /// All faults together.
    static let everything = SimulationProfile(
        name: "everything", workerKills: 80, workerStops: 40, hostKills: 30, hostStops: 30, handOvers: 40,
        rollBacks: 60, clockJumps: 60, flushes: 20, pauses: 10, ownCrashes: 1, poisonTokens: 6, poisonJobs: 2)

    /// Operators who change jobs very often.
    static let orders = SimulationProfile(
        name: "orders", workerKills: 30, workerStops: 20, hostKills: 20, hostStops: 20, handOvers: 40,
        pauses: 20, cancels: 150, holds: 250, promotions: 80)
    /// Operator commands and a Redis that forgets them.
    static let forgottenOrders = SimulationProfile(
        name: "forgotten-orders", workerKills: 30, handOvers: 30, rollBacks: 80, cancels: 120, holds: 200,
        promotions: 50)

    /// Campaigns beside jobs, and operators who pause and cancel them.
    static let campaigns = SimulationProfile(
        name: "campaigns", late: 30, workerKills: 40, hostKills: 40, hostStops: 30, handOvers: 60,
        flushes: 10, cancels: 60, holds: 60, campaigns: 60)
    /// Campaigns on a Redis that forgets its last seconds.
    static let forgottenCampaigns = SimulationProfile(
        name: "forgotten-campaigns", workerKills: 20, hostKills: 20, handOvers: 40, rollBacks: 80,
        clockJumps: 40, cancels: 30, campaigns: 60)

    static let all = [
        quiet, kills, poison, rollBacks, clock, everything, orders, forgottenOrders, campaigns,
        forgottenCampaigns,
    ]
}
