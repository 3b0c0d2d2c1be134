/// What goes wrong in a simulation, and how often.
struct SimulationProfile: Sendable, CustomStringConvertible {
    let name: String
    /// Of 1000 requests: lost, done twice, done without a reply, done later without a reply.
    var lost = 20
    var twice = 30
    var replyLost = 30
    var late = 10
    /// Of 10,000 turns.
    var workerKills = 0
    var workerStops = 0
    var hostKills = 0
    var hostStops = 0
    var handOvers = 0
    var rollBacks = 0
    var clockJumps = 0
    var flushes = 0
    /// Workers that end by themselves without a push's fault, in a whole run.
    var ownCrashes = 0
    /// Of 100 jobs: with a token that kills whoever sends it, with a body that kills whoever reads it.
    var poisonTokens = 0
    var poisonJobs = 0

    var description: String { name }

    /// Lines that lose, repeat and delay.
    static let quiet = SimulationProfile(name: "quiet", handOvers: 30)
    /// Processes and machines that die, stop and come back.
    static let kills = SimulationProfile(
        name: "kills", workerKills: 80, workerStops: 40, hostKills: 20, hostStops: 20, handOvers: 30,
        flushes: 10, ownCrashes: 2, poisonTokens: 12, poisonJobs: 4)
    /// A Redis that forgets its last steps.
    static let rollBacks = SimulationProfile(
        name: "roll-backs", workerKills: 40, workerStops: 20, hostKills: 10, hostStops: 10, handOvers: 20,
        rollBacks: 60, flushes: 10, poisonTokens: 8)
    /// All that, and a Redis whose clock jumps.
    static let everything = SimulationProfile(
        name: "everything", workerKills: 60, workerStops: 30, hostKills: 20, hostStops: 20, handOvers: 20,
        rollBacks: 30, clockJumps: 60, flushes: 20, ownCrashes: 2, poisonTokens: 8, poisonJobs: 3)

    static let all = [quiet, kills, rollBacks, everything]

    /// Whether more pushes may come twice than are counted.
    var losesCounts: Bool { rollBacks > 0 }
}
