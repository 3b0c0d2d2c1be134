import Coordinator
import EventLoop
import FarmConfiguration
import FarmLogging
import Foundation
import Logging
import RedisClient
import StoreProtocol
import Supervision

/// `pushfarm coordinator`: passes the configuration to the coordinator and runs the coordinator.
@Loop struct CoordinatorService {
    let configuration: Configuration
    /// Whether this process takes over from the coordinator that started it.
    var isSuccessor = false
    /// Reads the configuration again.
    let reload: @Loop () throws -> Configuration

    func run() async throws {
        let location = configuration.redisLocation(
            privateSocketExists: LocalSocket.accepts(configuration.privateRedisSocket))
        let authority =
            try location.caFile.map { path throws(CommandFailure) in try TextFile.read(path) } ?? ""
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var options = HostCoordinator.Options(
            configuration: configuration, redisURL: location.revealedURL(),
            redisTrustedCA: Array(authority.utf8),
            workers: configuration.workers.count(processors: processors),
            isAuto: configuration.workers == .auto,
            program: Executable.own,
            environment: ChildRole.environment(configuration.log),
            service: ServiceEnvironment(ProcessEnvironment.variables, pid: getpid()),
            reload: reload)
        options.processors = processors
        options.memory = ProcessMemory.limitBytes
        options.isSuccessor = isSuccessor
        options.arguments = CommandLine.arguments.filter { $0 != "--successor" }
        // A successor must not inherit this variable, which contains the process id of this coordinator: systemd must
        // watch the process id of the successor.
        options.variables = ProcessEnvironment.variables.filter { $0.key != "WATCHDOG_PID" }
            .map { "\($0.key)=\($0.value)" }
        options.setLogLevel = { FarmLog.level = $0 }
        if let file = configuration.log.file {
            options.reopenLogs = {
                do { try LogFile.take(file) } catch { Logger(label: "coordinator").error("\(error)") }
            }
        }
        options.version = Pushfarm.version
        do {
            try await HostCoordinator(options, log: Logger(label: "coordinator")).run()
        } catch let error as ShardCountMismatch {
            throw CommandFailure.usage("shards: \(error)")
        } catch let error as UnreadableFormat {
            throw CommandFailure.usage("\(location): \(error)")
        } catch let error as RedisError {
            throw error.isTemporary
                ? CommandFailure.temporary("\(location): \(error)") : .failed("\(location): \(error)")
        } catch let error as CoordinatorError {
            switch error {
            case .evictingRedis, .hostNameTaken: throw CommandFailure.usage("\(location): \(error)")
            case .stateFolderTaken: throw CommandFailure.usage("\(error)")
            case .successorLost: throw CommandFailure.failed("\(error)")
            }
        } catch {
            throw CommandFailure.failed("\(error)")
        }
    }
}
