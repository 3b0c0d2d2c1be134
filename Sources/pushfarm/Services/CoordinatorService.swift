import Coordinator
import EventLoop
import FarmConfiguration
import FarmLogging
import FarmStore
import Logging

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `pushfarm coordinator`: hands the configuration to the coordinator and runs it.
@Loop struct CoordinatorService {
    let configuration: FarmConfiguration
    /// Reads the configuration again.
    let reload: @Loop () throws -> FarmConfiguration

    func run() async throws {
        let location = configuration.redisLocation(
            privateSocketExists: LocalSocket.accepts(configuration.privateRedisSocket))
        let authority =
            try location.caFile.map { path throws(CommandFailure) in try TextFile.read(path) } ?? ""
        let options = Coordinator.Options(
            configuration: configuration, redisURL: location.revealedURL(),
            redisAuthority: Array(authority.utf8),
            workers: configuration.workers.count(processors: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
            isAuto: configuration.workers == .auto,
            program: Executable.own,
            environment: ChildRole.environment(
                level: configuration.log.level, format: configuration.log.format),
            reload: reload)
        do {
            try await Coordinator(options, log: Logger(label: "coordinator")).run()
        } catch let error as FarmMismatch {
            throw CommandFailure.usage("shards: \(error)")
        } catch let error as RedisError {
            throw error.isTemporary
                ? CommandFailure.temporary("\(location): \(error)") : .failed("\(location): \(error)")
        } catch let error as CoordinatorError {
            throw CommandFailure.usage("\(location): \(error)")
        } catch {
            throw CommandFailure.failed("\(error)")
        }
    }
}
