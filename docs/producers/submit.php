<?php
// Submits a job of the app demo, with the device tokens of the arguments:
//     REDIS_URL=redis://127.0.0.1:6379 php submit.php TOKEN...
// Needs the extension redis (Debian: php-redis).

// Returns "OK" or "DUPLICATE" after Redis has the job. Waits while the farm is busy or Redis cannot be reached.
// $connect makes a connected Redis.
function submit(callable $connect, string $app, array $job): string
{
    static $farm = null;
    $notNow = '/^(OOM|LOADING|READONLY|MISCONF)/';
    $text = json_encode($job, JSON_THROW_ON_ERROR);
    while (true) {
        [$status, $number, $reason] = ['BUSY', 1000, ''];
        try {
            $farm ??= $connect();
            $farm->clearLastError();
            $reply = $farm->rawCommand('FCALL', 'pushfarm_submit', 1, "pushfarm:$app", $text, $job['id']);
            $error = $farm->getLastError() ?? '';
            if (is_array($reply)) {
                [$status, $number, $reason] = $reply;
            } elseif (!preg_match($notNow, $error)) {
                throw new LogicException("Redis: $error");
            }
        } catch (RedisException $lost) {
            if (preg_match('/^(NOAUTH|WRONGPASS|NOPERM)/', $lost->getMessage())) {
                throw $lost;
            }
            if (!preg_match($notNow, $lost->getMessage())) {
                $farm = null;
            }
        }
        if ($status === 'OK' || $status === 'DUPLICATE') {
            return $status;
        }
        if ($status === 'REFUSED') {
            throw new InvalidArgumentException($reason);
        }
        usleep($number * 1000);
    }
}

$connect = function () {
    $url = parse_url(getenv('REDIS_URL') ?: 'redis://127.0.0.1:6379');
    $farm = new Redis();
    $farm->connect($url['host'], $url['port'] ?? 6379);
    if (isset($url['pass'])) {
        $login = array_filter([$url['user'] ?? '', $url['pass']]);
        $farm->auth(array_map('rawurldecode', array_values($login)));
    }
    return $farm;
};
$tokens = array_slice($argv, 1);
$job = ['id' => 'order-4711', 'tokens' => $tokens, 'payload' => ['aps' => ['alert' => 'Hello']]];
echo submit($connect, 'demo', $job), "\n";
