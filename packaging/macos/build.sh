#!/bin/sh
# Completes, signs and notarises the bundle that `packaging/build.py macos` made. On a Mac:
#
#   packaging/macos/build.sh dist/jarvis-desktop-0.1.0-macos-arm64.tar.gz "Developer ID Application: NAME (TEAM)" PROFILE
#
# PROFILE is what `xcrun notarytool store-credentials PROFILE` has kept. With "-" in place of the
# identity it is signed for this Mac alone, and not notarised.
set -eu
archive=$1
identity=$2
profile=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work"
app="$work/JARVIS Desktop.app"
python="$app/Contents/Resources/python"
version=$(basename "$python"/lib/python3.*) && version=${version#python}

# The program with the name of the bundle
install_name_tool -id "@rpath/libpython$version.dylib" "$python/lib/libpython$version.dylib"
mkdir -p "$app/Contents/MacOS"
cc -O2 -mmacosx-version-min=14.0 -DPYTHON_VERSION="\"$version\"" \
    -I "$python/include/python$version" -L "$python/lib" "-lpython$version" \
    -Wl,-rpath,@executable_path/../Resources/python/lib \
    -o "$app/Contents/MacOS/jarvis-desktop" "$here/launcher.c"
rm -rf "$python/include"

# From the inside out: first what is loaded, then what is started, then the whole
sign() {
    if [ "$identity" = - ]; then
        codesign --force --sign - "$@"
    else
        codesign --force --timestamp --options runtime --sign "$identity" "$@"
    fi
}
find "$python" -type f | while IFS= read -r file; do
    case $(file -b "$file") in
    *Mach-O*executable*) sign --entitlements "$here/entitlements.plist" "$file" ;;
    *Mach-O*) sign "$file" ;;
    esac
done
sign --entitlements "$here/entitlements.plist" "$app"
codesign --verify --deep --strict "$app"
"$app/Contents/MacOS/jarvis-desktop" --version

image="${archive%.tar.gz}.dmg"
ln -s /Applications "$work/Applications"
rm -f "$image"
hdiutil create -volname "JARVIS Desktop" -srcfolder "$work" -format ULFO "$image"
[ "$identity" = - ] && exit 0
sign "$image"
xcrun notarytool submit "$image" --keychain-profile "$profile" --wait
xcrun stapler staple "$image"
spctl --assess --type open --context context:primary-signature "$image"
